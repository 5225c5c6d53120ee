// Preloaded into a receiver. Its processing of an event prints it; for these ids that fails the first time.

const { log } = console;
const failed = new Set<string>();
console.log = (id: unknown, ...words: readonly unknown[]) => {
  if (typeof id === 'string' && id.startsWith('fails-once-') && !failed.has(id)) {
    failed.add(id);
    throw new Error('planted');
  }
  log(id, ...words);
};
