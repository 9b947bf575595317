-- Ends the script with `answer`, which is remembered for a second longer than a copy of the request
-- may be executed. A write that came before lets this one pass when memory is short.
call('SET', KEYS[1], answer, 'PXAT', string.format('%.0f', math.floor(ARGV[1] / 1000) + 1000))
return {answer, now}
