import {
  mustBeginWithVersion,
  mustCarryKey,
  mustCreateWithWrite,
  mustHaveTwoScopes,
  mustReadWithEither,
} from '../calls.ts'
import { mustReportOfTransfer } from '../events.ts'
import type { Section } from '../fact.ts'
import { mustReadEverything } from '../receiving.ts'

/** Authentication, and the sections behind it. */
export const authentication: readonly Section[] = [
  {
    name: 'Authentication',
    facts: [
      {
        says: 'Every API call includes the header X-API-KEY whose value is <API_KEY>.',
        test: mustCarryKey,
      },
      { says: 'An API key has a scope. Two scopes exist:', test: mustHaveTwoScopes },
      { says: 'read | Reading all data.', test: mustReadEverything },
      {
        says: 'write | Reading all data and creating new resources.',
        test: async (run) => {
          await mustReadEverything(run)
          await mustCreateWithWrite(run)
        },
      },
      {
        says: 'Creating a channel or a StableWallet therefore needs a key with the write scope.',
        test: mustCreateWithWrite,
      },
      { says: 'Reading needs read or write.', test: mustReadWithEither },
    ],
    gaps: [{ says: 'How keys are issued or revoked: not shown.', asks: ['How keys are issued or revoked'] }],
  },
  {
    name: 'Events',
    facts: [
      {
        says: 'The service offers webhooks to track a transfer from start to finish without polling.',
        test: mustReportOfTransfer,
      },
    ],
    gaps: [
      {
        says: 'Event kinds, payload shape, delivery, registration and signing of webhooks: not shown.',
        asks: ['Event kinds', 'payload shape', 'delivery', 'registration', 'signing of webhooks'],
      },
    ],
  },
  {
    name: 'Errors',
    facts: [],
    gaps: [
      {
        says: 'Error responses, status codes, error codes and the response to a missing, invalid or insufficiently scoped key: not shown.',
        asks: [
          'Error responses, status codes, error codes',
          'the response to a missing, invalid or insufficiently scoped key',
        ],
      },
    ],
  },
  {
    name: 'Limits',
    facts: [],
    gaps: [
      {
        says: 'Rate limits, size limits, time-outs and minimum or maximum amounts: not shown.',
        asks: ['Rate limits', 'size limits', 'time-outs', 'minimum or maximum amounts'],
      },
    ],
  },
  {
    name: 'Versioning',
    facts: [
      {
        says: 'The version is part of the path: every endpoint begins with /v1.',
        test: mustBeginWithVersion,
      },
    ],
    gaps: [
      {
        says: 'Policy for introducing further versions or deprecating this one: not shown.',
        asks: ['Policy for introducing further versions or deprecating this one'],
      },
    ],
  },
]
