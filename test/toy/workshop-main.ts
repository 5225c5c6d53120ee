import { start } from '../../start.ts';
import { workshop } from './workshop.ts';

await start({ domain: async () => workshop });
