/** A message as the gateway publishes or accepts it, under its base. */
export interface Example {
  /** The name of its schema. */
  readonly message: string;
  readonly topic: string;
  readonly payload: string;
}

/** One of each message, and of each flat group; a test publishes them. */
export const examples: readonly Example[] = [
  {
    message: "status",
    topic: "status",
    payload:
      '{"state":"online","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","gateway_id":"plant1","at":"2026-01-31T12:00:00.000Z"}',
  },
  {
    message: "health",
    topic: "health",
    payload:
      '{"state":"up","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","at":"2026-01-31T12:00:00.000Z","parts":{"fleet":{"state":"up","figures":{"streams":9,"clock_skew_seconds":0.1}}}}',
  },
  {
    message: "robots",
    topic: "robots",
    payload:
      '{"session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","robots":[{"robot_id":"robot-17","alias":"AMR01","family":"cart","info":"fleetgate/plant1/robots/robot-17/info"}]}',
  },
  {
    message: "info",
    topic: "robots/robot-17/info",
    payload:
      '{"robot_id":"robot-17","alias":"AMR01","family":"cart","conveyors":[1],"map_id":1,"session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90"}',
  },
  {
    message: "availability",
    topic: "robots/robot-17/availability",
    payload: "good",
  },
  {
    message: "mission",
    topic: "robots/robot-17/mission",
    payload:
      '{"robot_id":"robot-17","quality":"good","received_at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","state":{"metadata":{"timestamp":"2026-01-31T11:59:59.750Z","sequence_number":412},"missions":[{"mission_id":"m-81","state":"STATE_RUNNING","goals":[{"destination_id":"Dock 3"}],"current_goal_index":0,"mission_feedback":{"cart_feedback":{"status":"STATUS_NAVIGATING"}},"mission_type":{"cart_type":"CART_TYPE_NAVIGATE"},"owner":"api"}],"current_mission_index":0,"current_mission":{"mission_id":"m-81","state":"STATE_RUNNING","goals":[{"destination_id":"Dock 3"}],"current_goal_index":0,"mission_feedback":{"cart_feedback":{"status":"STATUS_NAVIGATING"}},"mission_type":{"cart_type":"CART_TYPE_NAVIGATE"},"owner":"api"},"current_goal":{"destination_id":"Dock 3"}}}',
  },
  {
    message: "battery",
    topic: "robots/robot-17/battery",
    payload:
      '{"robot_id":"robot-17","quality":"good","received_at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","state":{"metadata":{"timestamp":"2026-01-31T11:59:59.750Z","sequence_number":412},"battery_state":{"charge_percent":81,"state":"STATE_DISCHARGING","charge_method":"CHARGE_METHOD_NONE"}}}',
  },
  {
    message: "conveyor",
    topic: "robots/robot-17/conveyors/1",
    payload:
      '{"robot_id":"robot-17","quality":"good","received_at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","state":{"index":1,"operation_state":"OPERATION_STATE_STOP","payload_state":"PAYLOAD_STATE_LOADED","health_state":"HEALTH_STATE_OK","installation_state":"INSTALLATION_STATE_INSTALLED"}}',
  },
  {
    message: "presence",
    topic: "robots/robot-17/presence",
    payload:
      '{"robot_id":"robot-17","quality":"good","received_at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","state":{"id":"117","name":"robot-17","ip":"","area_id":1,"map_id":1,"map_name":"Hall 2","pos":"ST-A","state":"busy","state_id":"ROBOT_STATE_BUSY","load_status":"EMPTY","task_state":1,"task_chain_id":9,"task_id":31,"battery_percentile":81,"coordinate":{"x":12.5,"y":3.25,"theta":1.57},"materials":[],"amr_exception":null,"un_finish_route":null}}',
  },
  {
    message: "hold",
    topic: "robots/robot-17/hold",
    payload:
      '{"robot_id":"robot-17","held":true,"by":["opcua:plc1"],"stored":true,"session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90"}',
  },
  {
    message: "hold_all",
    topic: "hold",
    payload: '{"held":false,"by":[],"stored":true,"session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90"}',
  },
  {
    message: "task_chain",
    topic: "task_chains/9",
    payload:
      '{"robot_id":"robot-17","quality":"good","received_at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","state":{"task_chain_state":{"id":9,"amr_id":117,"task_seq":"","status":"TASK_CHAIN_STATUS_EXECUTING"},"task_states":[{"id":31,"task_type":"TASK_TYPE_LOAD","map_id":1,"end_point_code":"ST-A","status":"TASK_STATUS_EXECUTING"}]}}',
  },
  {
    message: "map",
    topic: "maps/1",
    payload:
      '{"map_id":1,"read_at":"2026-01-31T12:00:00.000Z","bytes":85,"session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","state":{"vertexes":[{"code":"ST-A","alias":"Station A","x":12.5,"y":3.25,"theta":1.57}]}}',
  },
  {
    message: "station",
    topic: "stations/dock",
    payload:
      '{"station":"dock","quality":"good","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","state":{"valid":true,"robot_here":"robot-17","robots_here":1,"arrived":true,"conveyors":[{"index":1,"loaded":true,"rolling":false}],"conveyors_quality":"good","next_robot":null,"next_robot_goals_before":null,"next_robot_quality":"good","counters":{"since":"2026-01-31T12:00:00.000Z","cycles":12,"aborted":0,"waiting_last_s":3.2,"waiting_total_s":41,"cycle_last_s":30.5,"cycle_total_s":370}}}',
  },
  {
    message: "robot_alarms",
    topic: "robots/robot-17/alarms",
    payload:
      '{"robot_id":"robot-17","out_of_service":false,"count":1,"highest_severity":600,"alarms":[{"id":"BATTERY_CRITICAL-mf3k2q","code":"BATTERY_CRITICAL","source":"robot","robot_id":"robot-17","priority":"high","severity":600,"text":"the battery has 10 % or less","cause":"the robot has not been charged in time","advice":"charge it now; a robot that is empty must be pushed","active":true,"since":"2026-01-31T12:00:00.000Z","returned_at":null,"occurrences":1,"acknowledged_by":null,"acknowledged_at":null}],"session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90"}',
  },
  {
    message: "station_alarms",
    topic: "stations/dock/alarms",
    payload:
      '{"station":"dock","count":1,"highest_severity":600,"alarms":[{"id":"BATTERY_CRITICAL-mf3k2q","code":"BATTERY_CRITICAL","source":"robot","robot_id":"robot-17","priority":"high","severity":600,"text":"the battery has 10 % or less","cause":"the robot has not been charged in time","advice":"charge it now; a robot that is empty must be pushed","active":true,"since":"2026-01-31T12:00:00.000Z","returned_at":null,"occurrences":1,"acknowledged_by":null,"acknowledged_at":null}],"session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90"}',
  },
  {
    message: "alarms",
    topic: "alarms",
    payload:
      '{"count":1,"highest_severity":600,"alarms":[{"id":"BATTERY_CRITICAL-mf3k2q","code":"BATTERY_CRITICAL","source":"robot","robot_id":"robot-17","priority":"high","severity":600,"text":"the battery has 10 % or less","cause":"the robot has not been charged in time","advice":"charge it now; a robot that is empty must be pushed","active":true,"since":"2026-01-31T12:00:00.000Z","returned_at":null,"occurrences":1,"acknowledged_by":null,"acknowledged_at":null}],"session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90"}',
  },
  {
    message: "tag",
    topic: "robots/robot-17/tags/mission/state",
    payload: "STATE_RUNNING",
  },
  {
    message: "tag",
    topic: "robots/robot-17/tags/battery/charge_percent",
    payload: "81",
  },
  {
    message: "tag",
    topic: "robots/robot-17/tags/presence/x",
    payload: "12.5",
  },
  {
    message: "tag",
    topic: "robots/robot-17/tags/presence/age_seconds",
    payload: "0",
  },
  {
    message: "tag",
    topic: "robots/robot-17/tags/presence/valid",
    payload: "true",
  },
  {
    message: "event_mission",
    topic: "robots/robot-17/event/mission",
    payload:
      '{"event_id":"e-1","robot_id":"robot-17","at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","mission_id":"m-81","from":null,"to":"STATE_RUNNING","owner":"api","command_id":"mqtt:hmi/42","command":{"protocol":"mqtt","user":"hmi","request_id":"42"}}',
  },
  {
    message: "event_conveyor",
    topic: "robots/robot-17/event/conveyor",
    payload:
      '{"event_id":"e-2","robot_id":"robot-17","at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","index":1,"from":{"index":1,"operation_state":"OPERATION_STATE_STOP","payload_state":"PAYLOAD_STATE_EMPTY","health_state":"HEALTH_STATE_OK","installation_state":"INSTALLATION_STATE_INSTALLED"},"to":{"index":1,"operation_state":"OPERATION_STATE_STOP","payload_state":"PAYLOAD_STATE_LOADED","health_state":"HEALTH_STATE_OK","installation_state":"INSTALLATION_STATE_INSTALLED"}}',
  },
  {
    message: "event_alarm",
    topic: "robots/robot-17/event/alarm",
    payload:
      '{"event_id":"e-3","robot_id":"robot-17","at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","from":"inactive","to":"active","id":"BATTERY_CRITICAL-mf3k2q","code":"BATTERY_CRITICAL","source":"robot","priority":"high","severity":600,"text":"the battery has 10 % or less","cause":"the robot has not been charged in time","advice":"charge it now; a robot that is empty must be pushed","active":true,"since":"2026-01-31T12:00:00.000Z","returned_at":null,"occurrences":1,"acknowledged_by":null,"acknowledged_at":null}',
  },
  {
    message: "event_command",
    topic: "robots/robot-17/event/command",
    payload:
      '{"event_id":"e-4","robot_id":"robot-17","at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","command_id":"mqtt:hmi/42","command":{"protocol":"mqtt","user":"hmi","request_id":"42"},"operation":"CreateMission","from":"sent","to":"succeeded","code":"OK","message":"","retry_safe":false,"mission_id":"m1","evidence":null}',
  },
  {
    message: "event_lease",
    topic: "robots/robot-17/event/lease",
    payload:
      '{"event_id":"e-5","robot_id":"robot-17","at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","station":"dock","protocol":"mqtt","user":"hmi","from":"free","to":"leased","reason":"asked","by":{"protocol":"mqtt","user":"hmi"}}',
  },
  {
    message: "event_hold",
    topic: "robots/robot-17/event/hold",
    payload:
      '{"event_id":"e-6","robot_id":"robot-17","at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","protocol":"mqtt","user":"hmi","from":"held","to":"free","by":{"protocol":"opcua","user":"eva"}}',
  },
  {
    message: "event_command",
    topic: "event/command",
    payload:
      '{"event_id":"e-7","robot_id":"","at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","command_id":"mqtt:hmi/43","command":{"protocol":"mqtt","user":"hmi","request_id":"43"},"operation":"DeleteWebhook","from":"received","to":"refused","code":"NOT_ALLOWED","message":"no rule of rights lets mqtt:hmi do this","retry_safe":true,"mission_id":null,"evidence":null}',
  },
  {
    message: "event_dropped",
    topic: "robots/robot-17/event/dropped",
    payload:
      '{"event_id":"e-8","robot_id":"robot-17","at":"2026-01-31T12:00:00.000Z","session_id":"5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90","historical":true,"count":3,"from":"2026-01-31T11:59:00.000Z","to":"2026-01-31T11:59:59.000Z","reason":"too_many"}',
  },
  {
    message: "reply",
    topic: "clients/hmi/reply/42",
    payload:
      '{"id":"42","outcome":"succeeded","code":"OK","message":"","retry_safe":false,"response":{"mission_id":"m1"},"duplicate":false}',
  },
  {
    message: "command",
    topic: "clients/hmi/command/CreateMission",
    payload:
      '{"id":"42","expires_in_ms":10000,"request":{"robot_id":"robot-17","mission":{"base_mission":{"navigate_mission":{"goal":{"destination_id":"Dock 3"}}}}}}',
  },
  {
    message: "act",
    topic: "clients/hmi/command/LeaseRobot",
    payload: '{"id":"43","station":"dock","robot_id":"robot-17"}',
  },
  {
    message: "act",
    topic: "clients/hmi/command/Hold",
    payload: '{"id":"44","robot_id":"robot-17","hold":true}',
  },
  {
    message: "act",
    topic: "clients/hmi/command/AcknowledgeAlarm",
    payload: '{"id":"45","alarm_id":"BATTERY_CRITICAL-mf3k2q"}',
  },
];
