import { bringUpToDate } from '../app/database.ts'
import { parsePlace } from '../config/place.ts'
import { attachedEnvironment, type Context, explainUnreachable } from './context.ts'
import { printJson } from './print.ts'

export async function runMigrations(context: Context, { json }: { json?: boolean }): Promise<void> {
  const place = parsePlace(attachedEnvironment(context))
  const applied = await bringUpToDate(place).catch(explainUnreachable)
  if (json === true) {
    printJson(context, { applied })
    return
  }
  for (const name of applied) context.stdout.write(`applied ${name}\n`)
  context.stdout.write(
    applied.length === 0 ? 'nothing to do: the schema is up to date\n' : 'the schema is up to date\n',
  )
}
