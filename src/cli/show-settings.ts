import type { Rules } from '../core/decide.ts'
import { Fault, isFault } from '../core/errors.ts'
import { rulesOf } from '../core/rules-of.ts'
import { attachedSettings, type Context } from './context.ts'

/** By what deposits are judged, or why the settings do not tell it. */
export type RulesOrProblem = { rules: Rules } | { problem: string }

/** What is stored can be shown by the address of the database alone; why it is so is judged by the settings. */
export function knownRules(context: Context): RulesOrProblem {
  try {
    return { rules: rulesOf(attachedSettings(context)) }
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return { problem: error.details.faults.join('; ') }
  }
}

/** @throws Fault `settings_bad` where the settings cannot be read */
export function requiredRules(context: Context): Rules {
  const known = knownRules(context)
  if ('rules' in known) return known.rules
  throw new Fault('settings_bad', { faults: [`what is judged anew needs all settings: ${known.problem}`] })
}
