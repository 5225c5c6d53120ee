#!/usr/bin/env node
import './dispose.ts';

// After what it needs on every Node: `npx annals` starts the domain that DOMAIN_FILE names, `npx annals audit verify` is the command line.
await import('../main.ts');
