/** The role alone, as `node main.ts auth` starts it. */
process.argv.splice(2, 0, 'auth');
await import('../main.ts');
