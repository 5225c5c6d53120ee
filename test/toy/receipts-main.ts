import { start } from '../../start.ts';
import { receipts } from './receipts.ts';

await start({ domain: async () => receipts });
