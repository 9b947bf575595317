# Completion of holdfast(1) for bash.
_holdfast() {
  local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  local common="--url --user --password-file --connect-timeout --response-timeout --json --help"
  local command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${COMP_WORDS[i]}" in
      run | elect | status | ls | watch | release | counter | semaphore | capabilities | doctor | completion | demo | bench)
        [[ -z $command ]] && command="${COMP_WORDS[i]}"
        ;;
      --)
        # What follows is the command to run: the shell knows how to complete that.
        if [[ $command == run || $command == elect ]]; then
          if declare -F _command_offset >/dev/null; then
            _command_offset $((i + 1))
          else
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
          fi
          return
        fi
        ;;
    esac
  done
  case "$previous" in
    --on-lost) mapfile -t COMPREPLY < <(compgen -W "terminate warn" -- "$word") && return ;;
    --story)
      mapfile -t COMPREPLY < <(compgen -W "orders stock balance leader seats" -- "$word") && return
      ;;
    --password-file | --svg) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    --url) mapfile -t COMPREPLY < <(compgen -W "redis:// unix:// embedded:" -- "$word") && return ;;
  esac
  local words
  case "$command" in
    "") words="run elect status ls watch release counter semaphore capabilities doctor completion demo bench --version $common" ;;
    run) words="--shared --exclusive --fair --permits --all-of --wait --nonblock --lease --on-lost --grace $common" ;;
    elect) words="--lease --grace --once $common" ;;
    ls) words="--limit $common" ;;
    watch) words="--interval --count $common" ;;
    release) words="--force --reason $common" ;;
    demo) words="--story --processes --threads --units --svg --no-svg $common" ;;
    bench) words="--threads --locks --seconds --lease --no-spin $common" ;;
    counter) words="get add sub set cas $common" ;;
    semaphore) words="get set $common" ;;
    completion) words="bash zsh fish --help" ;;
    *) words="$common" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _holdfast holdfast
