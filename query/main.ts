/** The role alone, as `node main.ts query` starts it. */
process.argv.splice(2, 0, 'query');
await import('../main.ts');
