import { start } from '../../start.ts';
import { nextWorkshop } from './workshop.ts';

await start({ domain: async () => nextWorkshop });
