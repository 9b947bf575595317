# Completion of holdfast(1) for bash.
_holdfast() {
  local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  local common="--url --user --tenant --password-file --password-command --password-valid-for --tls-ca --tls-cert --tls-key"
  common+=" --tls-server-name --tls-insecure-accept-any-certificate --connect-timeout --response-timeout"
  common+=" --min-replicas --replicas-fsync --quarantine --sentinel-password-file"
  common+=" --sentinel-tls-ca --sentinel-tls-cert --sentinel-tls-key --sentinel-tls-server-name"
  common+=" --sentinel-tls-insecure-accept-any-certificate --insecure-plain-sentinels --json --help"
  local command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${COMP_WORDS[i]}" in
      run | elect | status | ls | watch | audit | release | counter | semaphore | capabilities | doctor | serve | acl | completion | demo | bench)
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
  local words
  case "$previous" in
    --on-lost) mapfile -t COMPREPLY < <(compgen -W "terminate warn" -- "$word") && return ;;
    --signal) mapfile -t COMPREPLY < <(compgen -W "command group" -- "$word") && return ;;
    --dialect)
      words="holdfast redisson redisson_spin redisson_fenced redisson_expirable go_zero redis_py token python_redis_lock reentrant_thread_local redlock redlock_node rueidislock shedlock symfony redis_semaphore spring_integration: spring_integration_pub_sub:"
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word") && return
      ;;
    --story)
      mapfile -t COMPREPLY < <(compgen -W "orders stock balance leader seats" -- "$word") && return
      ;;
    --password-file | --sentinel-password-file | --members-file | --tls-ca | --tls-cert | --tls-key | --sentinel-tls-ca | --sentinel-tls-cert | --sentinel-tls-key | --svg) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    --url | --member) mapfile -t COMPREPLY < <(compgen -W "redis:// rediss:// redis+sentinel:// rediss+sentinel:// redis+cluster:// rediss+cluster:// unix:// embedded:" -- "$word") && return ;;
  esac
  case "$command" in
    "") words="run elect status ls watch audit release counter semaphore capabilities doctor serve acl completion demo bench --version $common" ;;
    run) words="--shared --exclusive --fair --permits --all-of --member --members-file --longest-lease --dialect --retry-interval --wait --nonblock --wait-for-server --busy-exit-code --once-per --at-least-for --run-again --has-run-exit-code --at-most-for --lease --on-lost --grace --signal --note --audit --pass-passwords $common" ;;
    status) words="--dialect --member --members-file $common" ;;
    elect) words="--lease --grace --once --listen --allow-host --wait-for-server --signal --note --audit --pass-passwords $common" ;;
    ls) words="--limit --all-dialects --scan $common" ;;
    watch) words="--dialect --interval --count $common" ;;
    audit) words="--since $common" ;;
    release) words="--force --reason --dialect --member --members-file $common" ;;
    doctor) words="--member --members-file --watch --interval $common" ;;
    serve) words="--listen --allow-host --name --also --pattern --refresh --limit --all-dialects --doctor --doctor-every $common" ;;
    demo) words="--story --processes --threads --units --svg --no-svg $common" ;;
    bench) words="--threads --locks --seconds --lease --no-spin $common" ;;
    acl) words="--kind $common" ;;
    counter) words="get add sub set cas $common" ;;
    semaphore) words="get set $common" ;;
    completion) words="bash zsh fish --help" ;;
    *) words="$common" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _holdfast holdfast
