import { start } from '../../start.ts';
import { departments } from './departments.ts';

await start({ domain: async () => departments });
