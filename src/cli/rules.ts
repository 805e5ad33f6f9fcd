import { applyDeps } from '../app/rules.ts'
import type { ApplyDeps } from '../jobs/books/apply.ts'
import { attachedSettings, type Context, withDatabase } from './context.ts'

export function withRules<Result>(
  context: Context,
  work: (deps: ApplyDeps) => Promise<Result>,
  queryTimeoutMs?: number,
): Promise<Result> {
  const settings = attachedSettings(context)
  return withDatabase(context, async (db) => work(await applyDeps(settings, db)), queryTimeoutMs)
}
