import { boards } from '../toy/boards.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(boards, {
  file: 'test/toy/boards.ts',
  unchecked: {
    'what is left in work of a card that has ended':
      'each card is made on a board of its own, the key of the view',
  },
});
