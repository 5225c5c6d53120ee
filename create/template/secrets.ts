import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

// Prints the settings that docker-compose.yml reads from .env: npm run -s secrets >> .env
// Keep a copy of MASTER_KEY apart from the data: without it no personal field can be read again.
if (existsSync('.env') && readFileSync('.env', 'utf8').includes('MASTER_KEY=')) {
  console.error('.env already has a MASTER_KEY, and another one could not decrypt its data.');
  process.exit(1);
}
console.log(
  `MASTER_KEY=${randomBytes(32).toString('base64')}\nPOSTGRES_PASSWORD=${randomBytes(24).toString('hex')}`,
);
