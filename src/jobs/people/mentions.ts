import type { Kysely } from 'kysely'
import type { Tables } from '../../store/tables.ts'
import { readRegister } from './decide.ts'

/** People of the register whom the text names as `@name`; other names are text. */
export async function mentionsIn(db: Kysely<Tables>, pinned: string | null, text: string): Promise<string[]> {
  if (!text.includes('@')) return []
  const { people } = await readRegister(db, pinned)
  const named = [...text.matchAll(mention)].flatMap(([, word = '']) =>
    namesIn(word)
      .flatMap((name) => people.get(name.toLowerCase())?.person ?? [])
      .slice(0, 1),
  )
  return [...new Set(named)]
}

/** Not within an address of mail. */
const mention = /(?<![\p{L}\p{N}._+@-])@([^\s@]+)/gu

/** The word, and the name that a sentence may continue: `@erin, @max's`. The longest first. */
function namesIn(word: string): string[] {
  const [run = ''] = /^[\p{L}\p{N}._-]+/u.exec(word) ?? []
  return [word, word.replace(endOfSentence, ''), run.replace(endOfSentence, '')]
}

const endOfSentence = /[^\p{L}\p{N}]+$/u
