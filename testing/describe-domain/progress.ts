const EVERY_MS = 10_000;

/** Prints what runs, for as long as it runs: a check of a large domain takes a minute. */
export const withProgress = async <Value>(what: () => string, work: () => Promise<Value>): Promise<Value> => {
  const timer = setInterval(() => process.stderr.write(`${what()}\n`), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
};
