import { apiDescription } from '../../src/service/http/server.ts'
import { contractOf } from '../support/contract.ts'

const withoutCall = ['key_missing', 'key_unknown', 'rate_limited', 'not_found', 'method_not_allowed']

/** @throws Error that names the difference to the published document */
export const checkExchange = contractOf(apiDescription, withoutCall)
