// Imported before a process of Annals that runs for long: until it ends, no install takes packages away that it
// may still load (ensure-installed.mjs).
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';

const folder = new URL('../node_modules/.annals-running/', import.meta.url);
const note = new URL(String(process.pid), folder);
mkdirSync(folder, { recursive: true });
writeFileSync(note, '');
process.once('exit', () => rmSync(note, { force: true }));
