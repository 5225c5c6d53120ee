// Loaded into each server before its own code: collects garbage on a signal of the process that measures
// memory.
process.on('SIGUSR2', () => {
  for (let time = 0; time < TIMES; time += 1)
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
});

/** Objects with a finalizer need a second collection. */
const TIMES = 2;
