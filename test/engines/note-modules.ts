import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// Loaded before a program, with `--import`: writes the address of each module that the program loads to a file.
const { NOTE_MODULES_IN: file = '' } = process.env;
registerHooks({
  load(url, context, next) {
    appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
