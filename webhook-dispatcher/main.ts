/** The role on its own, for `node main.ts webhook-dispatcher`. */
process.argv.splice(2, 0, 'webhook-dispatcher');
await import('../main.ts');
