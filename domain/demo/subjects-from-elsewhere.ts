import type { Subject } from './subjects.ts';

/** Subjects in other languages and scripts, because the magazine has readers everywhere. */
export const SUBJECTS_FROM_ELSEWHERE: readonly Subject[] = [
  {
    title: '傘を直す人',
    retitled: '傘を直す人の一日',
    tags: ['craft', 'japanese'],
    paragraphs: [
      '駅前の路地に、傘だけを直す店がある。骨が一本折れただけで捨てるのは、靴ひもが切れた靴を捨てるようなものだ、と主人は言う。',
      '雨の日は客が多いが、仕事は晴れた日に進む。預かった傘は、次の雨までに必ず返す。それがこの店のただ一つの約束である。',
    ],
    afterthought: '追記：掲載後、全国から傘が届いたそうです。お急ぎの方はお電話を、とのことです。',
  },
  {
    title: 'Старий млин біля річки',
    retitled: 'Млин, що знову меле',
    tags: ['history', 'ukrainian'],
    paragraphs: [
      'Сорок років колесо стояло. Потім троє сусідів витягли його з мулу, полагодили лопаті, і одного ранку млин заговорив знову.',
      'Борошна виходить небагато, на кілька родин. Але дорога до млина тепер знову має назву, і діти знають, звідки береться хліб.',
    ],
    afterthought: 'Доповнення: млин працює щосуботи. Приходьте зі своїм мішком.',
  },
  {
    title: 'مكتبة على دراجة',
    retitled: 'المكتبة التي تأتي إليك',
    tags: ['people', 'arabic'],
    paragraphs: [
      'كل خميس، يحمل أستاذ متقاعد ستين كتابًا على دراجته، ويدور بها على القرى الثلاث. لا بطاقات ولا غرامات: من يأخذ كتابًا يعده أن يحكيه لأحد.',
      'الكتب تعود دائمًا تقريبًا. وحين لا يعود كتاب، يقول الأستاذ إنه وجد بيتًا أفضل من السلة.',
    ],
    afterthought: 'تصحيح: القرى أربع منذ الربيع، والدراجة صار لها محرك صغير.',
  },
  {
    title: 'La mesa de los inventos pequeños',
    retitled: 'La mesa de los inventos mínimos',
    tags: ['craft', 'spanish'],
    paragraphs: [
      'En el mercado de los domingos hay una mesa donde no se vende nada. Cada semana alguien deja un invento que resuelve un problema muy pequeño: un gancho, una cuña, una tapa que no se pierde.',
      'Quien lo necesita se lo lleva. A cambio deja escrito en el cuaderno qué problema tenía. El cuaderno va ya por el quinto tomo.',
    ],
    afterthought: 'Nos preguntan por la tapa: está descrita en el tercer tomo, página 41.',
  },
];
