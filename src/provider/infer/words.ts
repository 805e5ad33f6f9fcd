/** Our terms for what services call the states of a deposit. The first row in which a part of the word is counts. */
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

/** What a word for a state most likely means; null where no part of it is known. */
export function statusOfWord(word: string): StatusMeaning | null {
  const text = word.toLowerCase()
  return states.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

/** Whom a word for a kind of owner means; null where nothing tells. */
export function ownerOfWord(word: string): 'channel' | 'stable_wallet' | null {
  const text = word.toLowerCase()
  if (/wallet|stable|vault|custod/.test(text)) return 'stable_wallet'
  return /channel|forward|route/.test(text) ? 'channel' : null
}
