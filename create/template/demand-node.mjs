// An older Node cannot read main.ts, and would report that in ten lines.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`Node 22.18 or newer is needed, and this is ${process.versions.node}.`);
  process.exit(1);
}
