import { rulesOf } from 'annals/testing';
import { test } from 'vitest';
import { helpdesk } from '../examples/helpdesk/domain/domain.ts';
import { ticket } from '../examples/helpdesk/domain/ticket.ts';

const { given } = rulesOf(helpdesk);
const CUSTOMER = 1;
const opened = ['opened', { customerId: CUSTOMER, subject: 'Smoke', priority: 'urgent', teamId: 3 }] as const;
const otherOf = (customerId: number) => ['opened', { ...opened[1], ticketId: 9, customerId }] as const;
const said = (messageId: number, internal: boolean) => ({
  messageId,
  text: 'It burns.',
  authorId: CUSTOMER,
  sentAt: '2026-01-02T03:04:05.678Z',
  internal,
});

test('an agent’s answer waits for the customer', () =>
  given(ticket, opened)
    .when('answer', { text: 'It burns.' })
    .yields(['answered', said(1, false)]));
test('a customer’s reply opens a solved ticket again', () =>
  given(ticket, opened, 'solved')
    .when('reply', { text: 'It burns.' })
    .yields(['replied', said(1, false)]));
test('a note is internal', () =>
  given(ticket, opened)
    .when('addNote', { text: 'It burns.' })
    .yields(['noted', said(1, true)]));
test('a ticket is marked as duplicate of another of the same customer', () => {
  const marked = given(ticket, opened);
  marked
    .beside({ ticket: given(ticket, otherOf(CUSTOMER)).state })
    .when('merge', { duplicateOfId: 9 })
    .yields(['merged', { duplicateOfId: 9 }]);
  marked
    .beside({ ticket: given(ticket, otherOf(5)).state })
    .when('merge', { duplicateOfId: 9 })
    .refuses('ticket_not_of_same_customer', 'A duplicate is a ticket of the same customer.');
});
test('its messages move along, with their authors, times and readers', () =>
  given(ticket, opened, ['noted', said(1, true)], ['replied', said(2, false)])
    .beside({ ticket: given(ticket, otherOf(CUSTOMER), ['replied', said(1, false)]).state })
    .when('merge', { duplicateOfId: 9 })
    .yields(
      ['merged', { duplicateOfId: 9 }],
      ['handedOver', { messageId: 1, internal: true }],
      ['handedOver', { messageId: 2, internal: false }],
      ['ticket.absorbed', { ticketId: 9, customerId: CUSTOMER, ...said(2, true) }],
      ['ticket.absorbed', { ticketId: 9, customerId: CUSTOMER, ...said(3, false) }],
    ));
test('erased messages do not move', () =>
  given(ticket, opened, ['replied', { ...said(1, false), text: null }])
    .beside({ ticket: given(ticket, otherOf(CUSTOMER)).state })
    .when('merge', { duplicateOfId: 9 })
    .refuses('user_deleted'));
test('it is no duplicate of itself, or of a duplicate', () => {
  const marked = given(ticket, opened);
  marked
    .beside({ ticket: marked.state })
    .when('merge', { duplicateOfId: 8 })
    .refuses('ticket_itself', 'A ticket is not a duplicate of itself.');
  marked
    .beside({ ticket: given(ticket, otherOf(CUSTOMER), ['merged', { duplicateOfId: 7 }]).state })
    .when('merge', { duplicateOfId: 9 })
    .refuses('ticket_already_merged', 'The other ticket is a duplicate itself.');
});
