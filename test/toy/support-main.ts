import { start } from '../../start.ts';
import { support } from './support.ts';

await start({ domain: async () => support });
