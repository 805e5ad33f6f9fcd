import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runSession } from './session.ts'

export const sessionPage = 'docs/deposit-service.md'

const begin =
  '<!-- Made by test/support/session.ts, from test/support/session-lines.ts. Change it there. -->\n'
const end = '<!-- The session ends here. -->\n'

/** The page with this session in the place of the one that it holds. Throws where it has no place for one. */
export function withSession(page: string, session: string): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`${sessionPage} marks no place for it`)
  return `${before}${begin}\n${session}\n${end}${after}`
}

/** `node test/support/write-session.ts` runs the session and writes it into the page. */
if (import.meta.main) {
  const path = join(import.meta.dirname, '../..', sessionPage)
  const session = await runSession()
  writeFileSync(path, withSession(readFileSync(path, 'utf8'), session))
}
