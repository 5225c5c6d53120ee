/** The role alone, as `node main.ts command` starts it. */
process.argv.splice(2, 0, 'command');
await import('../main.ts');
