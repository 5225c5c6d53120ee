/** The role on its own, for `node main.ts command`. */
process.argv.splice(2, 0, 'command');
await import('../main.ts');
