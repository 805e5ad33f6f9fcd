import { type Rules, rulesOf } from '../core/decide.ts'
import { Fault, isFault } from '../core/errors.ts'
import { attachedSettings, type Context } from './context.ts'

/** The rules that judge deposits, or why the settings do not provide them. */
export type RulesOrProblem = { rules: Rules } | { problem: string }

/** Stored data can be shown with the database URL alone, but an explanation of verdicts needs all settings. */
export function knownRules(context: Context): RulesOrProblem {
  try {
    return { rules: rulesOf(attachedSettings(context)) }
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return { problem: error.details.faults.join('; ') }
  }
}

/** @throws Fault `settings_bad` if the settings cannot be read */
export function requiredRules(context: Context): Rules {
  const known = knownRules(context)
  if ('rules' in known) return known.rules
  throw new Fault('settings_bad', { faults: [`what is judged anew needs all settings: ${known.problem}`] })
}
