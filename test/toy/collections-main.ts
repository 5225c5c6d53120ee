import { start } from '../../start.ts';
import { publishingWithCollections } from './collections.ts';

await start({ domain: async () => publishingWithCollections });
