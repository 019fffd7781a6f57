CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer
        );
INSERT INTO session VALUES('ses_dd8c81921ffeqISP6APIg4NN43','global',NULL,NULL,'proud-wizard','/home/me/work','','A title','1.18.33',NULL,0,0,0,NULL,NULL,0.0,90,45,0,0,0,NULL,NULL,'build','{"id":"mock-model","providerID":"mock"}',1795954304735,1795954310342,NULL,NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL
        );
INSERT INTO message VALUES('msg_22737e7e3001UbJHsGlGtKnpOw','ses_dd8c81921ffeqISP6APIg4NN43',1795954304995,1795954306579,'{"role":"user","time":{"created":1795954304995},"agent":"build","model":{"providerID":"mock","modelID":"mock-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22737e8040012CoNVDArz1VgnM','ses_dd8c81921ffeqISP6APIg4NN43',1795954305028,1795954306514,'{"parentID":"msg_22737e7e3001UbJHsGlGtKnpOw","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954305028,"completed":1795954306512},"finish":"stop"}');
INSERT INTO message VALUES('msg_22737ee36001LgGFdm8It5Lfbl','ses_dd8c81921ffeqISP6APIg4NN43',1795954306614,1795954307488,'{"role":"user","time":{"created":1795954306614},"agent":"build","model":{"providerID":"mock","modelID":"mock-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22737ee5c001EylxpVuZeMMkjF','ses_dd8c81921ffeqISP6APIg4NN43',1795954306652,1795954307145,'{"parentID":"msg_22737ee36001LgGFdm8It5Lfbl","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954306652,"completed":1795954307144},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22737f04d0010bPQmJt2EBM2Nz','ses_dd8c81921ffeqISP6APIg4NN43',1795954307149,1795954307428,'{"parentID":"msg_22737ee36001LgGFdm8It5Lfbl","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954307149,"completed":1795954307427},"finish":"stop"}');
INSERT INTO message VALUES('msg_22737f1af001Vjr6ueBp5QuwsE','ses_dd8c81921ffeqISP6APIg4NN43',1795954307503,1795954308539,'{"role":"user","time":{"created":1795954307503},"agent":"build","model":{"providerID":"mock","modelID":"mock-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22737f1c0001CfPK8YpdQMUS6B','ses_dd8c81921ffeqISP6APIg4NN43',1795954307520,1795954307817,'{"parentID":"msg_22737f1af001Vjr6ueBp5QuwsE","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954307520,"completed":1795954307816},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22737f2fc001UDk2jtUiSkV5WP','ses_dd8c81921ffeqISP6APIg4NN43',1795954307836,1795954308472,'{"parentID":"msg_22737f1af001Vjr6ueBp5QuwsE","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954307836,"completed":1795954308471},"finish":"stop"}');
INSERT INTO message VALUES('msg_22737f5de001L0VWzT7yG7lam2','ses_dd8c81921ffeqISP6APIg4NN43',1795954308574,1795954309464,'{"role":"user","time":{"created":1795954308574},"agent":"build","model":{"providerID":"mock","modelID":"mock-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22737f5f3001kLrKuxC9kObReF','ses_dd8c81921ffeqISP6APIg4NN43',1795954308595,1795954309094,'{"parentID":"msg_22737f5de001L0VWzT7yG7lam2","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954308595,"completed":1795954309093},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22737f7ef001uv1XWRd535HAXU','ses_dd8c81921ffeqISP6APIg4NN43',1795954309103,1795954309406,'{"parentID":"msg_22737f5de001L0VWzT7yG7lam2","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954309103,"completed":1795954309405},"finish":"stop"}');
INSERT INTO message VALUES('msg_22737f95e001jrNRv69HX65K1f','ses_dd8c81921ffeqISP6APIg4NN43',1795954309470,1795954310406,'{"role":"user","time":{"created":1795954309470},"agent":"build","model":{"providerID":"mock","modelID":"mock-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_22737f966001tw9gGaKiWr1Dty','ses_dd8c81921ffeqISP6APIg4NN43',1795954309478,1795954309903,'{"parentID":"msg_22737f95e001jrNRv69HX65K1f","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954309478,"completed":1795954309902},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_22737fb170011suNhySSqeHLm0','ses_dd8c81921ffeqISP6APIg4NN43',1795954309911,1795954310329,'{"parentID":"msg_22737f95e001jrNRv69HX65K1f","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-model","providerID":"mock","time":{"created":1795954309911,"completed":1795954310324},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL
        );
INSERT INTO part VALUES('prt_22737e7eb001H5bOvsgStuGxJr','msg_22737e7e3001UbJHsGlGtKnpOw','ses_dd8c81921ffeqISP6APIg4NN43',1795954305010,1795954305012,'{"type":"text","text":"My key is AKIAIOSFODNN7EXAMPLQ. Do as the script says: [[text]]"}');
INSERT INTO part VALUES('prt_22737ed3c0018JuDPQeTebq60q','msg_22737e8040012CoNVDArz1VgnM','ses_dd8c81921ffeqISP6APIg4NN43',1795954306364,1795954306370,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737ed43001PyH2bT6RDPozJL','msg_22737e8040012CoNVDArz1VgnM','ses_dd8c81921ffeqISP6APIg4NN43',1795954306372,1795954306381,'{"type":"text","text":"All is well.","time":{"start":1795954306371,"end":1795954306379}}');
INSERT INTO part VALUES('prt_22737ed9c001LpUDWKwF35WivO','msg_22737e8040012CoNVDArz1VgnM','ses_dd8c81921ffeqISP6APIg4NN43',1795954306460,1795954306463,'{"reason":"stop","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES('prt_22737ee36002A968xfuL7JiS87','msg_22737ee36001LgGFdm8It5Lfbl','ses_dd8c81921ffeqISP6APIg4NN43',1795954306621,1795954306625,'{"type":"text","text":"Do as the script says: [[shell cat key.txt]]"}');
INSERT INTO part VALUES('prt_22737eed5001ulH8c4hj4zJzvv','msg_22737ee5c001EylxpVuZeMMkjF','ses_dd8c81921ffeqISP6APIg4NN43',1795954306773,1795954306774,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737eed80017Ul3nsEB8dRydM','msg_22737ee5c001EylxpVuZeMMkjF','ses_dd8c81921ffeqISP6APIg4NN43',1795954306776,1795954306996,'{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"cat key.txt"},"output":"mark-42 AKIAIOSFODNN7EXAMPLQ\n","metadata":{"output":"mark-42 AKIAIOSFODNN7EXAMPLQ\n","exit":0,"truncated":false},"title":"cat key.txt","time":{"start":1795954306792,"end":1795954306991}}}');
INSERT INTO part VALUES('prt_22737f00d0017dC2UZ7zoaNC42','msg_22737ee5c001EylxpVuZeMMkjF','ses_dd8c81921ffeqISP6APIg4NN43',1795954307086,1795954307087,'{"reason":"tool-calls","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES('prt_22737f0ce001p0afRigtjI1SsR','msg_22737f04d0010bPQmJt2EBM2Nz','ses_dd8c81921ffeqISP6APIg4NN43',1795954307278,1795954307280,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737f0d1001PnFD52kfpMsLTW','msg_22737f04d0010bPQmJt2EBM2Nz','ses_dd8c81921ffeqISP6APIg4NN43',1795954307281,1795954307284,'{"type":"text","text":"The tool said mark-42.","time":{"start":1795954307281,"end":1795954307284}}');
INSERT INTO part VALUES('prt_22737f11a001SME9x4JgqefM28','msg_22737f04d0010bPQmJt2EBM2Nz','ses_dd8c81921ffeqISP6APIg4NN43',1795954307355,1795954307356,'{"reason":"stop","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES('prt_22737f1af002jAbCcOFZmbeF8m','msg_22737f1af001Vjr6ueBp5QuwsE','ses_dd8c81921ffeqISP6APIg4NN43',1795954307505,1795954307510,'{"type":"text","text":"Do as the script says: [[shell git push --force origin main]]"}');
INSERT INTO part VALUES('prt_22737f21f001EFcaMAITD4e9lv','msg_22737f1c0001CfPK8YpdQMUS6B','ses_dd8c81921ffeqISP6APIg4NN43',1795954307615,1795954307617,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737f223001488eYVgTGhO22L','msg_22737f1c0001CfPK8YpdQMUS6B','ses_dd8c81921ffeqISP6APIg4NN43',1795954307619,1795954307696,'{"type":"tool","tool":"bash","callID":"call_2","state":{"status":"completed","input":{"command":"git push --force origin main"},"output":"error: src refspec main does not match any\nerror: failed to push some refs to ''origin''\n","metadata":{"output":"error: src refspec main does not match any\nerror: failed to push some refs to ''origin''\n","exit":1,"truncated":false},"title":"git push --force origin main","time":{"start":1795954307631,"end":1795954307695}}}');
INSERT INTO part VALUES('prt_22737f297001TTDad08NGrVULn','msg_22737f1c0001CfPK8YpdQMUS6B','ses_dd8c81921ffeqISP6APIg4NN43',1795954307736,1795954307737,'{"reason":"tool-calls","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES('prt_22737f4b8001vn1PShDWYu5rwb','msg_22737f2fc001UDk2jtUiSkV5WP','ses_dd8c81921ffeqISP6APIg4NN43',1795954308281,1795954308282,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737f4bd001SvrFAqU5Otl0P0','msg_22737f2fc001UDk2jtUiSkV5WP','ses_dd8c81921ffeqISP6APIg4NN43',1795954308285,1795954308291,'{"type":"text","text":"The tool said: error: src refspec main does not match any\nerror: failed to push some refs to ''origin''\n","time":{"start":1795954308285,"end":1795954308289}}');
INSERT INTO part VALUES('prt_22737f51d001WVCrQgEPv5Bib7','msg_22737f2fc001UDk2jtUiSkV5WP','ses_dd8c81921ffeqISP6APIg4NN43',1795954308381,1795954308383,'{"reason":"stop","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES('prt_22737f5df001VyW5oNuItmPXvK','msg_22737f5de001L0VWzT7yG7lam2','ses_dd8c81921ffeqISP6APIg4NN43',1795954308581,1795954308583,'{"type":"text","text":"Do as the script says: [[read /home/me/work/key.txt]]"}');
INSERT INTO part VALUES('prt_22737f6ae0011v6SMLLzXl5MJ5','msg_22737f5f3001kLrKuxC9kObReF','ses_dd8c81921ffeqISP6APIg4NN43',1795954308782,1795954308784,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737f6b1001LDkpUXHiEJ2Uv2','msg_22737f5f3001kLrKuxC9kObReF','ses_dd8c81921ffeqISP6APIg4NN43',1795954308785,1795954308848,'{"type":"tool","tool":"read","callID":"call_3","state":{"status":"completed","input":{"filePath":"/home/me/work/key.txt"},"output":"<path>/home/me/work/key.txt</path>\n<type>file</type>\n<content>\n1: mark-42 AKIAIOSFODNN7EXAMPLQ\n\n(End of file - total 1 lines)\n</content>","metadata":{"preview":"mark-42 AKIAIOSFODNN7EXAMPLQ","truncated":false,"loaded":[],"display":{"type":"file","path":"/home/me/work/key.txt","text":"mark-42 AKIAIOSFODNN7EXAMPLQ","lineStart":1,"lineEnd":1,"totalLines":1,"truncated":false}},"title":"key.txt","time":{"start":1795954308798,"end":1795954308846}}}');
INSERT INTO part VALUES('prt_22737f746001TpVg0M1TNlePDp','msg_22737f5f3001kLrKuxC9kObReF','ses_dd8c81921ffeqISP6APIg4NN43',1795954308935,1795954308936,'{"reason":"tool-calls","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES('prt_22737f883001ASwdWdCUhom4TL','msg_22737f7ef001uv1XWRd535HAXU','ses_dd8c81921ffeqISP6APIg4NN43',1795954309251,1795954309253,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737f889001F6V3DiiQHMk9WW','msg_22737f7ef001uv1XWRd535HAXU','ses_dd8c81921ffeqISP6APIg4NN43',1795954309257,1795954309277,'{"type":"text","text":"The tool said mark-42.","time":{"start":1795954309257,"end":1795954309275}}');
INSERT INTO part VALUES('prt_22737f8f8001yV00V4meHUY0ia','msg_22737f7ef001uv1XWRd535HAXU','ses_dd8c81921ffeqISP6APIg4NN43',1795954309368,1795954309369,'{"reason":"stop","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES('prt_22737f95e002ahyTkWF4O80cs4','msg_22737f95e001jrNRv69HX65K1f','ses_dd8c81921ffeqISP6APIg4NN43',1795954309472,1795954309472,'{"type":"text","text":"Do as the script says: [[probe]]"}');
INSERT INTO part VALUES('prt_22737fa0c0014PJGfD31zBgPEv','msg_22737f966001tw9gGaKiWr1Dty','ses_dd8c81921ffeqISP6APIg4NN43',1795954309644,1795954309645,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737fa0f001SCctU57QdYxWVy','msg_22737f966001tw9gGaKiWr1Dty','ses_dd8c81921ffeqISP6APIg4NN43',1795954309647,1795954309694,'{"type":"tool","tool":"probe_echo","callID":"call_4","state":{"status":"completed","input":{"message":"mark-42"},"output":"mark-42","metadata":{"truncated":false},"title":"","time":{"start":1795954309661,"end":1795954309688}}}');
INSERT INTO part VALUES('prt_22737fab4001wOc0mOdFCBAItN','msg_22737f966001tw9gGaKiWr1Dty','ses_dd8c81921ffeqISP6APIg4NN43',1795954309813,1795954309814,'{"reason":"tool-calls","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES('prt_22737fc0e0015ibEn43pzaxBA0','msg_22737fb170011suNhySSqeHLm0','ses_dd8c81921ffeqISP6APIg4NN43',1795954310158,1795954310159,'{"snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-start"}');
INSERT INTO part VALUES('prt_22737fc100017Qc32xyTXmphDh','msg_22737fb170011suNhySSqeHLm0','ses_dd8c81921ffeqISP6APIg4NN43',1795954310161,1795954310163,'{"type":"text","text":"The tool said mark-42.","time":{"start":1795954310160,"end":1795954310163}}');
INSERT INTO part VALUES('prt_22737fc61001LuLckt6h3NElcO','msg_22737fb170011suNhySSqeHLm0','ses_dd8c81921ffeqISP6APIg4NN43',1795954310241,1795954310243,'{"reason":"stop","snapshot":"1a5599ebbf5a5306b071721e12ebf5c63d0b1ffd","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
