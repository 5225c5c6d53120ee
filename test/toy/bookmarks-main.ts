import { start } from '../../start.ts';
import { bookmarks } from './bookmarks.ts';

await start({ domain: async () => bookmarks });
