import { randomBytes } from 'node:crypto';

// What docker-compose.yml reads from .env: npm run -s secrets >> .env
// Keep a copy of MASTER_KEY apart from the data: without it no personal field can be read again.
console.log(`MASTER_KEY=${randomBytes(32).toString('base64')}\nPOSTGRES_PASSWORD=${randomBytes(24).toString('hex')}`);
