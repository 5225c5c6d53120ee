import { bookmarks } from '../toy/bookmarks.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(bookmarks, { file: 'test/toy/bookmarks.ts' });
