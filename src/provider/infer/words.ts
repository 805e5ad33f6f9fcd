/** Our terms for the states that services report. The first row that matches a part of the word counts. */
const states = [
  ['refunded', /refunded|returned|reversed|reimbursed/],
  ['failed', /fail|reject|error|expired|cancel|declin|abort|dropped|invalid/],
  ['held', /held|hold|review|frozen|block|suspend|refund|manual|aml|compliance|quarantin|stuck/],
  [
    'settling',
    /convert|forward|process|swap|sweep|settling|paying|exchang|transferring|executing|sending|broadcast/,
  ],
  ['settled', /settled|complete|credited|paid|done|success|deliver|finished|closed|sent|released/],
  ['observed', /unconfirmed|detect|seen|pending|receiv|incoming|new|initiated|created|observed|open|mempool/],
  ['confirmed', /confirmed|final|verified|secured|mature|cleared|accepted|approved/],
] as const

export type StatusMeaning = (typeof states)[number][0]

/** The most likely meaning of a status word; null if no part is known. */
export function statusOfWord(word: string): StatusMeaning | null {
  const text = word.toLowerCase()
  return states.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

/** The owner kind that a word means; null if unknown. */
export function ownerOfWord(word: string): 'channel' | 'stable_wallet' | null {
  const text = word.toLowerCase()
  if (/wallet|stable|vault|custod/.test(text)) return 'stable_wallet'
  return /channel|forward|route/.test(text) ? 'channel' : null
}
