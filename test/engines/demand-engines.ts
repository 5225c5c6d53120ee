import { beforeEach, inject } from 'vitest';

// Without them these suites would say nothing that the same ones on PostgreSQL alone do not say.
beforeEach(({ skip }) => {
  skip(inject('kafkaBroker') === undefined, 'the engines for scale cannot be here');
});
