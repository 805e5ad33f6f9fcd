import { type ViewPage, viewNameMax, viewPages } from '../../core/saved-view.ts'
import { depositFilter } from './deposits.ts'
import { refused } from './forms.ts'
import { mismatchFilter } from './mismatches.ts'
import { signedIn } from './people.ts'
import { oneOf } from './query.ts'
import type { ConsoleReader } from './reader.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'
import { listPath, viewQuery } from './tabs.ts'

const filters = { mismatches: mismatchFilter, deposits: depositFilter }

/** Lists under a name, which all who sign in see. */
export async function changeViews({ reader, people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { person: savedBy } = signedIn(user)
  const page = oneOf(viewPages)('page', field('page'))
  const name = field('name')
  if (name === '' || name.length > viewNameMax || /\p{C}/u.test(name))
    throw refused(`give a name of at most ${viewNameMax} signs`, 400)
  const query = readView(page, field('filter'), reader)
  if (field('action') === 'remove') await people.removeView({ page, name })
  else await people.saveView({ page, name, query, savedBy })
  return { redirect: listPath(page, query) }
}

/** @throws Fault `request_refused` if it is no filter of the page */
function readView(page: ViewPage, filter: string, reader: ConsoleReader): string {
  const query = viewQuery(filter)
  filters[page](new URLSearchParams(query), reader)
  return query
}
