/** A reader’s comment; `edited` is its later text. */
type Remark = { readonly text: string; readonly edited?: string };

export const REMARKS: readonly Remark[] = [
  { text: 'My grandmother did exactly this, and swore that nobody else knew.' },
  { text: 'I read it aloud at breakfast. We were late, and it was worth it.' },
  {
    text: 'Is there a photograph? I should like to see the ledger.',
    edited: 'Is there a photograph? I should like to see the ledger. (Found it, thank you.)',
  },
  { text: 'The second paragraph is the best thing I have read this month.' },
  {
    text: 'A small correction: in our town it was always a Wednesday.',
    edited: 'A small correction: in our town it was always a Thursday. I have asked my sister.',
  },
  { text: 'これは祖父の話にそっくりです。' },
  { text: 'Дякую, дуже тепло написано.' },
  { text: 'شكرًا، ذكّرني هذا النص ببيتنا القديم.' },
  { text: 'Ich habe es sofort ausprobiert. Beim dritten Mal ging es.' },
  { text: 'Does anybody know whether this still exists? We shall be there in August.' },
  { text: 'I disagree about the patience. A timer does very well.' },
  { text: 'Qué maravilla. Se lo mando a mi padre, que tiene la misma manía.' },
  { text: 'I have worked there for eleven years and never noticed. I noticed today.' },
  { text: 'Thirty, not forty. But who counts.', edited: 'Thirty-one, not forty. I have counted.' },
  { text: 'More of this, please, and fewer lists.' },
  { text: '정말 좋은 글이에요. 다음 편도 기다릴게요.' },
  { text: 'The bit about the magpie made me laugh on the tram.' },
  { text: 'I kept the postcard. It is over my desk, slightly crooked, as printed.' },
  { text: 'Une merveille. La dernière phrase surtout.' },
  { text: 'My students argued about this for an hour. I only had to open the window.' },
  { text: 'यह पढ़कर अपने गाँव की याद आ गई।' },
  { text: 'Would the author be willing to give a talk? Our library has chairs and a kettle.' },
  { text: 'I tried to find fault with it and could not, which is annoying.' },
  { text: 'We have one too, but ours leaks.' },
];

/** Comments that an editor removes. */
export const NUISANCES: readonly string[] = [
  'GENUINE WATCHES 80 % OFF today only, message me for the address!!!',
  'First!',
  'You obviously know nothing about this. Typical.',
  'Work from home and earn in your sleep, ask me how.',
];

/** Titles and openings of sequels, given the title of the earlier article. */
export const SEQUELS: readonly { readonly title: (of: string) => string; readonly opening: string }[] = [
  {
    title: (of) => `After “${of}”`,
    opening: 'A month has passed since we wrote about this, and the post has not stopped coming.',
  },
  {
    title: (of) => `Three letters on “${of}”`,
    opening: 'Of the letters that came, these three disagree with us the most politely.',
  },
  {
    title: (of) => `“${of}”, a year later`,
    opening:
      'We went back to see what had become of it. Less had changed than we feared, and more than they admit.',
  },
  {
    title: (of) => `What we left out of “${of}”`,
    opening: 'An article has edges. This is what was cut from it, and why we miss it.',
  },
  {
    title: (of) => `Corrections to “${of}”`,
    opening: 'We got some things wrong. The people concerned were kind about it, which makes it worse.',
  },
];
