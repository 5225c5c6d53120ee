import { start } from '../../start.ts';
import { after } from './grown.ts';

await start({ domain: async () => after });
