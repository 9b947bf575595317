#compdef holdfast
# Completion of holdfast(1) for zsh.
_holdfast() {
  local -a common commands
  local dialects='holdfast redisson redisson_spin redisson_fenced redisson_expirable go_zero redis_py token python_redis_lock reentrant_thread_local redlock redlock_node rueidislock shedlock symfony redis_semaphore spring_integration\: spring_integration_pub_sub\:'
  local curcontext="$curcontext" state line
  common=(
    '--url[server address]:address:(redis\:// rediss\:// redis+sentinel\:// rediss+sentinel\:// redis+cluster\:// rediss+cluster\:// unix\:// embedded\:)'
    '--user[user name]:name:'
    '--tenant[tenant to which the locks belong]:name:'
    '--password-file[file with the password in its first line]:file:_files'
    '--password-command[shell command that prints the password]:command:'
    '--password-valid-for[how long such a password is good]:duration:'
    '--sentinel-password-file[the same for the sentinels]:file:_files'
    '--tls-ca[authorities to trust]:path:_files'
    '--tls-cert[our own certificate]:file:_files'
    '--tls-key[its key]:file:_files'
    '--tls-server-name[name that the certificate must have]:name:'
    '--tls-insecure-accept-any-certificate[do not check who the server is]'
    '--sentinel-tls-ca[authorities to trust for the sentinels]:path:_files'
    '--sentinel-tls-cert[our own certificate for them]:file:_files'
    '--sentinel-tls-key[its key]:file:_files'
    '--sentinel-tls-server-name[name that their certificate must have]:name:'
    '--sentinel-tls-insecure-accept-any-certificate[do not check who they are]'
    '--insecure-plain-sentinels[no TLS to the sentinels]'
    '--connect-timeout[how long connecting may take]:duration:'
    '--response-timeout[how long one answer may take]:duration:'
    '--min-replicas[how many replicas must have a grant]:number:'
    '--replicas-fsync[they must have it on their disks]'
    '--quarantine[for how long nothing is granted after a failover]:duration:'
    '--json[print JSON]'
    '--help[print help]'
  )
  commands=(
    'run:run a command under a lock'
    'elect:run a command while leader'
    'status:show who holds locks'
    'ls:list the locks that are held'
    'watch:print every change of a lock'
    'audit:show who had locks'
    'release:take a lock away from its holder'
    'counter:read or change a counter'
    'semaphore:show or set the permits of a semaphore'
    'capabilities:show what every kind of lock can do'
    'doctor:check whether a server is fit for Holdfast'
    'serve:show locks as a page, JSON and metrics'
    'acl:print the rights that a user of the server needs'
    'completion:print the completion script of a shell'
    'demo:show what happens without a lock, and with one'
    'bench:measure locking on a server'
  )
  _arguments -C $common '--version[print the version]' '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
        run)
          _arguments $common \
            '(--exclusive --fair --permits --all-of)--shared[as a reader]' \
            '(--shared --fair --permits --all-of)--exclusive[as the writer]' \
            '(--shared --exclusive --permits --all-of)--fair[in strict order of arrival]' \
            '(--shared --exclusive --fair --all-of)--permits[of a semaphore]:N/M:' \
            '(--shared --exclusive --fair --permits)--all-of[all of these]:names:' \
            '*--member[a server of a quorum]:url:' \
            '--members-file[file with all of them]:file:_files' \
            '--longest-lease[longest lease of the quorum]:duration:' \
            "--dialect[library that writes the lock]:library:($dialects)" \
            '--wait[how long to wait for the lock]:duration:' \
            '--nonblock[ask once]' \
            '--wait-for-server[wait for a server that was never reached]' \
            '--busy-exit-code[exit code when the lock was not obtained]:number:' \
            '--once-per[once per interval]:interval[@offset]:' \
            '--at-least-for[least time between two runs]:duration:' \
            '--run-again[when it may run again]:when:(never failed lost)' \
            '--has-run-exit-code[exit code when it is not due yet]:number:' \
            '--at-most-for[how long the command may run]:duration:' \
            '--lease[how long the lock outlives this process]:duration:' \
            '--note[what the lock is held for]:text:' \
            '--audit[locks with an audit trail]:pattern:' \
            '--pass-passwords[leave passwords in the environment of the command]' \
            '--on-lost[what to do when the lock is lost]:action:(terminate warn)' \
            '--signal[receiver of signals]:whom:(command group)' \
            '--retry-interval[pause before asking again]:duration:' \
            '--grace[between SIGTERM and SIGKILL]:duration:' \
            '1:lock:' '*::command:_normal'
          ;;
        elect)
          _arguments $common \
            '--lease[how long the lead outlives this process]:duration:' \
            '--grace[between SIGTERM and SIGKILL]:duration:' \
            '--once[do not campaign again]' \
            '--listen[answer probes at this address]:address:' \
            '*--allow-host[another name by which it may be called]:name:' \
            '--wait-for-server[wait for a server that was never reached]' \
            '--signal[receiver of signals]:whom:(command group)' \
            '--note[what the lock is held for]:text:' \
            '--audit[locks with an audit trail]:pattern:' \
            '--pass-passwords[leave passwords in the environment of the command]' \
            '1:election:' '*::command:_normal'
          ;;
        status)
          _arguments $common '*--member[a server of a quorum]:url:' \
            '--members-file[file with all of them]:file:_files' \
            "--dialect[library that writes the lock]:library:($dialects)" '*:lock:'
          ;;
        ls)
          _arguments $common '--limit[most locks to list]:number:' \
            '--all-dialects[locks of other libraries, too]' '--scan[look at every key]' '1:pattern:'
          ;;
        watch)
          _arguments $common \
            "--dialect[library that writes the lock]:library:($dialects)" \
            '--interval[how often to look]:duration:' \
            '--count[end after so many lines]:number:' '1:lock:'
          ;;
        audit) _arguments $common '--since[how far to look back]:duration:' '1:pattern:' ;;
        release)
          _arguments $common '--force[needed]' '--reason[why]:text:' \
            "--dialect[library that writes the lock]:library:($dialects)" \
            '*--member[a server of a quorum]:url:' \
            '--members-file[file with all of them]:file:_files' '1:lock:'
          ;;
        counter) _arguments $common '1:counter:' '2:action:(get add sub set cas)' '*:number:' ;;
        semaphore) _arguments $common '1:action:(get set)' '2:semaphore:' '3:permits:' ;;
        serve)
          _arguments $common \
            '--listen[where it answers]:address:' \
            '*--allow-host[another name by which it may be called]:name:' \
            '--name[what the first server is called]:name:' \
            '*--also[another server]:name=url:' \
            '--pattern[names to look at]:pattern:' \
            '--refresh[how often it looks]:duration:' \
            '--limit[most locks to look at]:number:' \
            '--all-dialects[locks of other libraries, too]' \
            '--doctor[run the doctor, too]' \
            '--doctor-every[how often]:duration:'
          ;;
        demo)
          _arguments $common \
            '--story[which story]:story:(orders stock balance leader seats)' \
            '--processes[processes]:number:' \
            '--threads[people in each process]:number:' \
            '--units[units in stock]:number:' \
            '--svg[where the picture goes]:file:_files' \
            '--no-svg[draw no picture]'
          ;;
        bench)
          _arguments $common \
            '--threads[threads that lock and unlock]:number:' \
            '--locks[locks that they share]:number:' \
            '--seconds[for each measurement]:number:' \
            '--lease[lease of the locks]:duration:' \
            '--no-spin[sleep at once while waiting]'
          ;;
        completion) _arguments '1:shell:(bash zsh fish)' ;;
        acl) _arguments $common '*--kind[kind of lock]:kind:' '1:pattern:' ;;
        doctor)
          _arguments $common '*--member[a server of a quorum]:url:' \
            '--members-file[file with all of them]:file:_files' \
            '--watch[look again and again]' '--interval[how often to look]:duration:'
          ;;
        capabilities) _arguments $common ;;
        *) _arguments $common '*:lock:' ;;
      esac
      ;;
  esac
}
if [[ $funcstack[1] == _holdfast ]]; then
  _holdfast "$@"
else
  compdef _holdfast holdfast
fi
