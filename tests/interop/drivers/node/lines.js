// Obeys the commands that come on standard input, a line each, and answers each with a line.
'use strict';

const readline = require('readline');

module.exports = async function answerLines(obey) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === 'quit') break;
    try {
      console.log(await obey(line.split(' ')));
    } catch (error) {
      console.log(`error ${String(error.message).split('\n')[0]}`);
    }
  }
  process.exit(0);
};
