import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, flag, instant, integer, line, markdown, ref, states } from '#kernel/declare/fields.ts';
import { route } from '#kernel/declare/route.ts';

/** A domain with SQL and code beyond declarations: of one release, and of the next with different code. */
const base = domain({ name: 'workshop', roles: ['teacher'] });
const { aggregate, user } = base;

const dashed = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const courseOf = (version: number, slugOf: (title: string) => string) =>
  aggregate('course', {
    owner: 'teacher',
    fields: {
      teacher: ref(user),
      title: line(100),
      minutes: integer(1, 6_000),
      seats: integer(1, 500),
      text: markdown(50_000).default(''),
      slug: line(120).optional().filter(),
      status: states('planned', 'open'),
    },
    events: {
      planned: { creates: ['title', 'minutes', 'seats', 'text'] },
      changed: { changes: ['title', 'minutes', 'seats', 'text'] },
      opened: { sets: { status: 'open' } },
    },
    commands: { plan: { emits: 'planned' }, change: { emits: 'changed' }, open: { emits: 'opened' } },
    rights: { read: { anyone: 'open', teacher: ['open', 'own'] }, write: { teacher: 'own' } },
    projects: {
      slug: {
        version,
        by: {
          planned: ({ title }) => slugOf(title),
          changed: ({ title }) => (title === undefined ? undefined : slugOf(title)),
        },
      },
    },
    expressions: {
      hours: {
        type: 'Int',
        sql: ({ minutes }) => `${minutes} / 60`,
        value: ({ minutes }) => Math.trunc(minutes / 60),
      },
      isLong: {
        type: 'Boolean',
        sql: ({ minutes }) => `${minutes} > 90`,
        value: ({ minutes }) => minutes > 90,
      },
      initial: {
        type: 'String',
        sql: ({ title }) => `left(${title}, 1)`,
        value: ({ title }) => title.slice(0, 1),
      },
      words: {
        type: 'Int',
        says: 'How many words its text has; null without any.',
        sql: ({ text }) =>
          `nullif(cardinality(regexp_split_to_array(btrim(${text}), ' +')) - (btrim(${text}) = '')::integer, 0)`,
        value: ({ text }) => text.split(' ').filter((each) => each !== '').length || null,
      },
    },
    filters: {
      seatsMin: {
        takes: 'Int',
        says: 'Only courses with at least this many seats.',
        sql: ({ seats }, least) => `${seats} >= ${least}`,
        holds: ({ seats }, least) => seats >= least,
      },
      begins: {
        takes: 'String',
        sql: ({ title }, given) => `starts_with(lower(${title}), lower(${given}))`,
        holds: ({ title }, given) => title.toLowerCase().startsWith(given.toLowerCase()),
      },
      roomy: {
        takes: 'Boolean',
        sql: ({ seats, minutes }, given) => `(${seats} > 20 and ${minutes} > 30) = ${given}`,
        holds: ({ seats, minutes }, given) => (seats > 20 && minutes > 30) === given,
      },
    },
  });

const summary = route('summarizeCourses', {
  path: '/course-summary',
  says: 'How many courses each teacher has, and how long they are',
  right: 'course.read',
  takes: { seatsMin: integer(1, 500).optional(), status: choice('planned', 'open').optional() },
  gives: {
    teacherId: integer(1, 2 ** 53 - 1),
    name: line(100).optional(),
    courses: integer(0, 1e9),
    minutes: integer(0, 1e9),
    seats: integer(0, 1e9).optional(),
    newest: instant(),
    mine: flag(),
  },
  sql: ({ seatsMin, status, callerId }) => `
    select c.teacher_id as "teacherId", u.name, count(*)::integer as courses,
      sum(c.minutes) as minutes, sum(c.seats) filter (where c.seats > 35) as seats, max(c.created_at) as newest, c.teacher_id = ${callerId} as mine
    from read_model.courses c join read_model.users u on u.id = c.teacher_id
    where c.seats >= coalesce(${seatsMin}, 1) and c.status = coalesce(${status}, c.status)
    group by c.teacher_id, u.name order by courses desc, c.teacher_id`,
});

export const workshop = assemble(base, [courseOf(1, dashed)], [], [summary]);
export const nextWorkshop = assemble(base, [courseOf(2, (title) => `course-${dashed(title)}`)]);
