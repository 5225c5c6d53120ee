/** Starts only this role, like `node main.ts query`. */
process.argv.splice(2, 0, 'query');
await import('../main.ts');
