// Loaded into each server before its own code: what is no longer needed goes when somebody who measures
// memory asks for that.
process.on('SIGUSR2', () => {
  for (let time = 0; time < TIMES; time += 1)
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
});

/** What has a finalizer needs a second one. */
const TIMES = 2;
