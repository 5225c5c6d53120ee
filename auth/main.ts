/** Starts this role alone, as `node main.ts auth` does. */
process.argv.splice(2, 0, 'auth');
await import('../main.ts');
