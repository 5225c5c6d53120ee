/** The role alone, as `node main.ts webhook-dispatcher` starts it. */
process.argv.splice(2, 0, 'webhook-dispatcher');
await import('../main.ts');
