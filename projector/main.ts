/** The role on its own, for `node main.ts projector`. */
process.argv.splice(2, 0, 'projector');
await import('../main.ts');
