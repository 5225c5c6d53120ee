/** The role alone, as `node main.ts projector` starts it. */
process.argv.splice(2, 0, 'projector');
await import('../main.ts');
