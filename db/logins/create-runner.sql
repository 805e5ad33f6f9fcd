-- Run once, by the postgres image, when the database is first made: the login of the daemon. It owns nothing; what it
-- may do is granted to depositd_daemon by the migrations, which the owner runs. On a server that exists already, run
-- it by hand with psql, and give the daemon this login in the place of the owner's.
\set password `cat /run/secrets/runner_password`
create role depositd_daemon nologin;
create role depositd_runner login password :'password' in role depositd_daemon;
