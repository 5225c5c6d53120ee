import { start } from '../../start.ts';
import { before } from './grown.ts';

await start({ domain: async () => before });
