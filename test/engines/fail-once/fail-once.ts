// Preloaded into a receiver. All that it does about an event is to print it, which fails the first time for
// these ids.

const { log } = console;
const failed = new Set<string>();
console.log = (id: unknown, ...words: readonly unknown[]) => {
  if (typeof id === 'string' && id.startsWith('fails-once-') && !failed.has(id)) {
    failed.add(id);
    throw new Error('planted');
  }
  log(id, ...words);
};
